// env/kit/defects.h - the picture defects of the suite darkroom, under the names of MAT-Coding, and how strong each is.
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

// In the order in which code has to repair them; they are made in the reverse order.
enum class Defect { crop, dark, overexposure, noise, blur, rotation90, rotation180 };
inline constexpr int kDefects = 7;
std::string_view to_string(Defect defect);  // the name of its enumerator
using Defects = std::set<Defect>;

// "{'dark', 'noise'}"; "{'none'}" for none.
std::string format_defects(const Defects& defects);
std::string kind_of(const Defects& defects);  // "dark+noise"; "none"
// Names parted by commas, with or without quotes and braces; nothing if one of them is not a defect, or if there are no
// names.
std::optional<Defects> parse_defects(std::string_view text);

// A picture as it is shown, and the place of the region in it that the question asks about (thousandths; the whole
// picture unless it is to be cut out).
struct Degraded {
  Image picture;
  Box region{0, 0, 1000, 1000};
};
// `others`: three pictures of the same size that are placed next to `picture` where it is to be cut out. REQUIRES:
// `picture` is square.
Degraded degrade(const Image& picture, const std::vector<Image>& others, const Defects& defects, Rng& rng);

// The Python statement that repairs a defect of the picture `p`.
std::string mending_code(Defect defect, const Box& region);
// The picture turned clockwise by a quarter turn, so many times.
Image turned(const Image& picture, int quarters);
// The part of a picture in `region`.
Image cut_out(const Image& picture, const Box& region);
// How far two pictures of one size are apart: the mean difference of their values, 0 to 255.
double mean_difference(const Image& a, const Image& b);
// How alike their shapes are, whatever their brightness and contrast: the correlation of their values, -1 to 1.
double correlation(const Image& a, const Image& b);

}  // namespace agon::env
