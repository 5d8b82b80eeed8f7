// env/grading/place_said.h - tells which places in a text (env/grading/box_text.h) are denied, and which belong to
// another object. Pure functions. Each reads only a few words around a place, so all places of a text take linear time.
#pragma once

#include <string>
#include <string_view>

namespace agon::env {

// Is the place between two texts denied: "The button isn't at ..", "Never tap ..", ".. is not the dog", "不要点击.."?
// A denial of something else ("The cup that is not blue is at ..") does not count.
bool denies_place(std::string_view before, std::string_view after);

// Does a text end with words that make the next two numbers a picture's size: "the image size is", "resolution:"?
bool ends_with_size(std::string_view before);

// Does a text say that a place belongs to another object: ", to the left of the cat at"? `between`: the text from the
// previous place to this one. `after`: the text after this one. `listed`: the previous place belonged to another object
// too, so that "and the bird at" continues the list.
bool names_landmark(std::string_view between, std::string_view after, bool listed);

// A plain text without the explanation of its coordinates: "[100,200,300,400], where (0, 0) is the top-left corner of
// the image and (1000, 800) ..".
std::string without_coordinate_frame(std::string_view plain);

}  // namespace agon::env
