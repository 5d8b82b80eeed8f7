// core/pictures/image_decoder.h - decodes pictures in separate processes (agon-decode). They open no files and are
// limited to the memory and CPU time of one picture. They start when needed, stay for the next picture, and are
// replaced when one ends.
#pragma once

#include <string>

#include "core/pictures/decoder_process.h"
#include "core/pictures/image.h"
#include "core/pictures/image_header.h"

namespace agon {

// header: complete, without a fault, within the limits. keep_pixels false: the picture is decoded and an empty one
// returned. Thread-safe; blocks while one picture per processor (at most 16) is being decoded, or while those take
// 1 GiB. Throws Error, which begins with `name`, and NoDecoder.
Image decode_apart(const ImageHeader& header, const std::string& name, const ImageLimits& limits, bool keep_pixels);

// Bytes that the decoder, and then this process, holds at most in addition to the file.
std::uint64_t decode_bytes(const ImageHeader& header);

}  // namespace agon
