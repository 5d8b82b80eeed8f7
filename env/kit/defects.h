// env/kit/defects.h - the picture defects of the suite darkroom, named as in MAT-Coding: damages pictures, writes code
// that repairs them, and compares pictures.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/pictures/image.h"
#include "core/rng.h"
#include "env/grading/box.h"

namespace agon::env {

// Listed in the order in which code has to repair them. degrade() rotates first, then puts the picture on a page
// (crop), then adds blur, noise, dark and overexposure.
enum class Defect { crop, dark, overexposure, noise, blur, rotation90, rotation180 };
inline constexpr int kDefects = 7;
std::string_view to_string(Defect defect);  // the name of its enumerator
using Defects = std::set<Defect>;

// "{'dark', 'noise'}"; "{'none'}" for none.
std::string format_defects(const Defects& defects);
std::string kind_of(const Defects& defects);  // "dark+noise"; "none"
// Names separated by commas, with or without quotes and braces; "none" gives the empty set. Nothing for an unknown name
// or no names.
std::optional<Defects> parse_defects(std::string_view text);

// A picture as shown, and the region of it that the question asks about, in thousandths of its sides. Without
// Defect::crop the region is the whole picture.
struct Degraded {
  Image picture;
  Box region{0, 0, 1000, 1000};
};
// Applies the defects. `others`: three pictures of the same size, which share a page with `picture` for Defect::crop.
// REQUIRES: `picture` is square.
Degraded degrade(const Image& picture, const std::vector<Image>& others, const Defects& defects, Rng& rng);

// The Python statement that repairs a defect of the picture `p`.
std::string mending_code(Defect defect, const Box& region);
// The picture turned clockwise by `quarters` quarter turns.
Image turned(const Image& picture, int quarters);
// The part of a picture in `region`.
Image cut_out(const Image& picture, const Box& region);
// The distance of two pictures of equal size: the mean absolute difference of their values, 0 to 255.
double mean_difference(const Image& a, const Image& b);
// The similarity of two pictures regardless of brightness and contrast: the correlation of their values, -1 to 1.
double correlation(const Image& a, const Image& b);

}  // namespace agon::env
