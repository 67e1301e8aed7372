// Imports, models and recipes: the items of a file.
#include "frontend/syntax/Grammar.h"

namespace tenon::syntax {
namespace {

bool acceptsRecipe(const Lexeme &l, const char *) { return l.is("train") || l.is("generate") || l.is("names"); }
constexpr Class<Token> recipeKind(acceptsRecipe, "'train', 'generate' or 'names'");

struct ImportTag : Annotate {};
struct ModelTag : Annotate {};
struct BindTag : Annotate {};
struct KeyTag : Annotate {};
struct SettingTag {};
struct AnySettingTag {};
struct AsTag {};
struct ModelHeaderTag {};
struct RecipeHeaderTag : Annotate {};
struct RecipeTag : Annotate {};
struct ItemTag {};
struct AnyItemTag {};

const x3::rule<ImportTag, ImportNode> import = "'import'";
const x3::rule<ModelTag, ModelNode> model = "'model'";
const x3::rule<BindTag, BindSetting> bindSetting = "'bind'";
const x3::rule<KeyTag, KeySetting> keySetting = "a setting";
const x3::rule<AnySettingTag, SettingNode> anySetting = "a setting";
const x3::rule<SettingTag, SettingNode> setting = "a setting";
const x3::rule<AsTag, Token> as = "'as'";
const x3::rule<ModelHeaderTag, Token> modelHeader = "a name";
const x3::rule<RecipeHeaderTag, RecipeHeader> recipeHeader = "a name";
const x3::rule<RecipeTag, RecipeNode> recipe = "'train', 'generate' or 'names'";
const x3::rule<AnyItemTag, TopItem> anyItem = "an item";
const x3::rule<ItemTag, TopItem> item = "an item";

const auto import_def = Keep("import", "'import'") > text;
const auto modelHeader_def = header[name > curlyOpen];
const auto model_def = Mark("model", "'model'") > modelHeader > *statement > curlyClose;
const auto bindSetting_def = Keep("bind", "'bind'") > commaList(binding);
const auto keySetting_def = settingKey > equals > expression;
const auto anySetting_def = bindSetting | keySetting;
const auto setting_def = resync(ListKind::Settings)[anySetting];
const auto as_def = Mark("as", "'as'") > word;
const auto recipeHeader_def = header[name > -as > curlyOpen];
const auto recipe_def = recipeKind > recipeHeader > *setting > curlyClose;
const auto anyItem_def = import | model | callable | recipe;
const auto item_def = resync(ListKind::Items)[anyItem];
const auto file_def = *item;

} // namespace

BOOST_SPIRIT_DEFINE(import, modelHeader, model, bindSetting, keySetting, anySetting, setting, as, recipeHeader, recipe, anyItem,
                    item, file)

BOOST_SPIRIT_INSTANTIATE(FileRule, Iterator, Context)

} // namespace tenon::syntax
