#!/usr/bin/env python3
"""Makes the files of this folder with the tokenizers of transformers 4.40.2: small vocabularies, trained on the words below, in
the file formats of public models, and what these tokenizers make of hard texts. `python make.py` in this folder, in an
environment with transformers; not part of the tests, which read what it wrote. Vocabularies that are there stay: training breaks
ties by chance."""
import json
import os

from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from tokenizers.normalizers import BertNormalizer
from transformers import BertTokenizer, BertTokenizerFast, GPT2Tokenizer, OpenAIGPTTokenizer, RobertaTokenizer

CORPUS = ["The quick brown fox jumps over the lazy dog; it's the dog's day, they'll say, and we've seen 1234 of them.",
          "Die Größe der Übung: naïve Café-Besucher zählen 5678 Straßen.", "Ελληνικά και русский язык, 中文字符 und 한국어 words.",
          "In the beginning there was nothing, which then exploded into the things that there are now: nothing at all."] * 3
TEXTS = ["The quick brown fox.", "it's they'll WE'VE I'd I'm you're 'tis 'sake don''t", "  two  blanks   three\n\n\nlines\n \n x",
         "trailing blanks   ", "\t tabs\tand\r\nreturns\r\n", "12345 x1y2 3.14 ½ ² Ⅻ ٣", "naïve café Größe ÜBUNG ﬁne Å é",
         "中文字符 and 日本語 かな 한국어", "русский Ελληνικά Σ ς ЁЖ", "emoji 😀👍🏽 zwj 👨‍👩‍👧 flag 🇩🇪",
         "a\u00a0b\u2003c\u3000d\u200be\u0085f\u2028g",
         "!!!???... (x) [y] {z} <w> «q» “r” — – ‐ _u_ $5 €6 §7 ^ ` ~ + = | \\ / # % & * @", "the" * 60, "x" * 99, "y" * 100,
         "z" * 101, "", " ", "\n", "a", " a", "ctrl\x01char\x7f\x0bvt\x0cff", "zero\u200dwidth\ufeffbom",
         "combining e\u0301 a\u0308\u0323 \u0301", "mask <mask> and </s><s> here <|endoftext|> end<|endoftext|>",
         "İstanbul ıI ǅ ẞ ŉ", "word_with_underscores snake_case CamelCase"]
SPECIALS = ["<s>", "<pad>", "</s>", "<unk>"]


def write(name, value):
    if os.path.exists(name) and name != "cases.json":
        return
    with open(name, "w", encoding="utf-8") as file:
        file.write(value)


def save(name, value):
    write(name, json.dumps(value, ensure_ascii=True, indent=0) + "\n")


def byte_level():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    trainer = trainers.BpeTrainer(vocab_size=420, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(CORPUS, trainer)
    model = json.loads(tokenizer.to_str())["model"]
    merges = [" ".join(pair) if isinstance(pair, list) else pair for pair in model["merges"]]
    return sorted(model["vocab"], key=model["vocab"].get), merges


def of_characters():
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"))
    tokenizer.normalizer, tokenizer.pre_tokenizer = BertNormalizer(lowercase=True), pre_tokenizers.BertPreTokenizer()
    trainer = trainers.BpeTrainer(vocab_size=260, special_tokens=["<unk>"], end_of_word_suffix="</w>", show_progress=False)
    tokenizer.train_from_iterator(CORPUS, trainer)
    model = json.loads(tokenizer.to_str())["model"]
    return model["vocab"], [" ".join(pair) if isinstance(pair, list) else pair for pair in model["merges"]]


def pieces(lower):
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer, tokenizer.pre_tokenizer = BertNormalizer(lowercase=lower), pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokenizer.train_from_iterator(CORPUS, trainers.WordPieceTrainer(vocab_size=260, special_tokens=special, show_progress=False))
    vocab = json.loads(tokenizer.to_str())["model"]["vocab"]
    return sorted(vocab, key=vocab.get)


def plain(tokenizer, text):
    return tokenizer.convert_tokens_to_ids(tokenizer.tokenize(text))


def main():
    symbols, merges = byte_level()
    cases = {}
    for name, order, make in (("gpt2", symbols + ["<|endoftext|>"], GPT2Tokenizer),
                              ("roberta", SPECIALS + symbols + ["<mask>"], RobertaTokenizer)):
        os.makedirs(name, exist_ok=True)
        save(f"{name}/vocab.json", {symbol: number for number, symbol in enumerate(order)})
        write(f"{name}/merges.txt", "#version: 0.2\n" + "\n".join(merges) + "\n")
        tokenizer = make(f"{name}/vocab.json", f"{name}/merges.txt")
        cases[name] = [[text, plain(tokenizer, text)] for text in TEXTS]
    vocab, merges = of_characters()
    os.makedirs("gpt1", exist_ok=True)
    save("gpt1/vocab.json", vocab)
    write("gpt1/merges.txt", "#version: 0.2\n" + "\n".join(merges) + "\n")
    tokenizer = OpenAIGPTTokenizer("gpt1/vocab.json", "gpt1/merges.txt")  # without ftfy and spacy: BERT's basic words
    assert tokenizer.fix_text is None
    cases["gpt1"] = [[text, plain(tokenizer, text)] for text in TEXTS if "<" not in text]
    # With capitals the slow class composes characters (NFC), what neither the fast one nor google-research/bert does.
    for lower, name, make in ((True, "uncased", BertTokenizer), (False, "cased", BertTokenizerFast)):
        write(f"{name}.txt", "\n".join(pieces(lower)) + "\n")
        tokenizer = make(f"{name}.txt", do_lower_case=lower)
        cases[name] = [[text, plain(tokenizer, text)] for text in TEXTS]
    save("cases.json", cases)


if __name__ == "__main__":
    main()
