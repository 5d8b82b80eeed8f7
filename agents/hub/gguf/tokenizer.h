// agents/hub/gguf/tokenizer.h - the keys of a GGUF file that are its tokenizer, read and written.
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

// Tokens of the type "unused" behind all others are left out.
TokenizerParts gguf_tokenizer_parts(const GgufFile& file, const std::string& source);
// Shares the file: the text of its tokenizer.json is made when it is asked for.
std::unique_ptr<Tokenizer> open_gguf_tokenizer(std::shared_ptr<const GgufFile> file, const std::string& source);
Json gguf_end_tokens(const GgufKeyReader& keys);  // the ids of those that end a turn
std::int64_t gguf_token_id(const GgufKeyReader& keys, std::string_view token);
// {"bos_token": "<s>", ...}, as templates may write them.
Json gguf_named_tokens(const GgufFile& file);

// The other way round. Throws Error for what GGUF has no name for.
std::vector<GgufKey> gguf_tokenizer_keys(const ModelFolder& parts);

}  // namespace agon::agents
