// agents/hub/gguf/tokenizer.h - reads and writes the tokenizer that is stored in the keys of a GGUF file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "agents/hub/gguf/file.h"
#include "agents/hub/gguf/key_reader.h"
#include "agents/hub/gguf/writer.h"
#include "agents/hub/tokenizer/tokenizer.h"
#include "agents/hub/tokenizer/tokenizer_parts.h"

namespace agon::agents {

struct ModelFolder;

// Each throws Error naming the key that is missing or wrong; `source` names the file.

// Tokens of type "unused" at the end are left out.
TokenizerParts gguf_tokenizer_parts(const GgufFile& file, const std::string& source);
// Shares ownership of the file: Tokenizer::json() builds its text from it on demand.
std::unique_ptr<Tokenizer> open_gguf_tokenizer(std::shared_ptr<const GgufFile> file, const std::string& source);
Json gguf_end_tokens(const GgufKeyReader& keys);  // ids of the tokens that end a turn
std::int64_t gguf_token_id(const GgufKeyReader& keys, std::string_view token);
// {"bos_token": "<s>", ...}, the variables of templates.
Json gguf_named_tokens(const GgufFile& file);

// The keys of a model's tokenizer. Throws Error if GGUF has no name for it.
std::vector<GgufKey> gguf_tokenizer_keys(const ModelFolder& parts);

}  // namespace agon::agents
