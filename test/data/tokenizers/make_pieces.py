#!/usr/bin/env python3
"""Makes pieces/ with sentencepiece 0.1.97 and the slow tokenizers of transformers 4.40.2: small models in the form of public ones
(T5: unigram; Llama: byte pairs with the bytes of what is no piece; ALBERT: in lower case; XLNet's is that of golden.json), and
what these tokenizers make of hard texts. `python make_pieces.py` in this folder; not part of the tests, which read what it wrote.
Models that are there stay."""
import base64
import io
import json
import logging
import os

import sentencepiece
from make import CORPUS, TEXTS
from transformers import AlbertTokenizer, LlamaTokenizer, T5Tokenizer, XLNetTokenizer

# A part of nmt_nfkc, whose whole table has 240 KB: what a rule reads and writes, in code points.
RULES = ["9\t20", "A\t20", "D\t20", "A0\t20", "2003\t20", "3000\t20", "200B\t", "200D\t", "1\t", "7F\t", "FEFF\t",
         "FB01\t66 69", "65 301\tE9", "BD\t31 2044 32", "B2\t32", "FF21\t41"]
OWN = ["``the'' 50, and 1,234,567, of 9,\u00a0x", "  two  blanks <sep> and<cls>a<pad></s> b",
       "\uff21\ufb01\u00bd 5\u00b2, \u0663,", "a\x1cb", "``", "50,", " , ", "1,2,3,", "the\ndog\n\nit's"]
# Of T5's sentinels, which are no pieces of its model.
SENTINELS = ["the dog <extra_id_0> the fox", "the dog<extra_id_1>the fox", "<extra_id_99>  x", "a <extra_id_3> <extra_id_4></s>",
             "<extra_id_100>", "it's <extra_id_10>.<extra_id_1>", " <extra_id_5> ", "<extra_id_0><extra_id_1> the",
             "<extra_id_00> <EXTRA_ID_0> extra_id_0>"]


def train(name, lower=False, **settings):
    path = f"pieces/{name}.model"
    if os.path.exists(path):
        return path
    made = io.BytesIO()
    texts = [text.lower() if lower else text for text in CORPUS]
    with open("/tmp/rules.tsv", "w", encoding="utf-8") as file:
        file.write("\n".join(RULES) + "\n")
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(texts), model_writer=made, num_threads=1, minloglevel=2,
                                             hard_vocab_limit=False, character_coverage=0.98, **settings)
    with open(path, "wb") as file:
        file.write(made.getvalue())
    return path


def main():
    logging.disable(logging.WARNING)
    os.makedirs("pieces", exist_ok=True)
    with open("golden.json", encoding="utf-8") as file:
        xlnet = base64.b64decode(json.load(file)["unigram"]["model_base64"])
    with open("pieces/xlnet.model", "wb") as file:
        file.write(xlnet)
    rules = {"normalization_rule_tsv": "/tmp/rules.tsv"}
    t5 = train("t5", vocab_size=110, pad_id=0, eos_id=1, unk_id=2, bos_id=-1, **rules)
    llama = train("llama", vocab_size=380, model_type="bpe", byte_fallback=True, split_digits=True,
                  normalization_rule_name="identity", remove_extra_whitespaces=False, allow_whitespace_only_pieces=True)
    albert = train("albert", lower=True, vocab_size=100, pad_id=0, unk_id=1, bos_id=-1, eos_id=-1,
                   control_symbols=["[CLS]", "[SEP]", "[MASK]"], user_defined_symbols=["(", ")", '"'], **rules)
    cases = {}
    for name, tokenizer in (("t5", T5Tokenizer(t5, extra_ids=0, legacy=True)), ("llama", LlamaTokenizer(llama, legacy=True)),
                            ("albert", AlbertTokenizer(albert)), ("xlnet", XLNetTokenizer("pieces/xlnet.model"))):
        cases[name] = [[text, tokenizer.convert_tokens_to_ids(tokenizer.tokenize(text))] for text in TEXTS + OWN]
    t5 = T5Tokenizer(t5, extra_ids=100, legacy=True)
    cases["sentinels"] = []
    for text in SENTINELS:
        ids = t5.convert_tokens_to_ids(t5.tokenize(text))
        cases["sentinels"].append([text, ids, t5.decode(ids, clean_up_tokenization_spaces=False)])
    with open("pieces/cases.json", "w", encoding="utf-8") as file:
        lists = ['"' + name + '": [\n' + ",\n".join(json.dumps(case) for case in own) + "]" for name, own in cases.items()]
        file.write("{" + ",\n".join(lists) + "}\n")


main()
