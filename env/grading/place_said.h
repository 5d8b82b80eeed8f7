// env/grading/place_said.h - what a text says about the places in it (env/grading/box_text.h): which are denied, which
// belong to another object, and which are corners. Pure functions. Each reads only a few words around a place, so all
// places of a text take linear time.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace agon::env {

// Is the place between two texts denied: "The button isn't at ..", "Never tap ..", ".. is not the dog", "不要点击.."?
// What a sentence says of something else ("The cup that is not blue is at ..") denies nothing.
bool denies_place(std::string_view before, std::string_view after);

// Does a text end with what makes the two numbers behind it a picture's size: "the image size is", "resolution:"?
bool ends_with_size(std::string_view before);

// Does the text between an earlier place and a later one, or the text behind the later one, make the later one that of
// something beside the first: ", to the left of the cat at"? `listed`: the earlier one was such a place itself, so that
// "and the bird at" goes on.
bool names_landmark(std::string_view between, std::string_view after, bool listed);

// "[100,200,300,400], where (0, 0) is the top-left corner of the image and (1000, 800) ..": without what says how
// coordinates are counted.
std::string without_coordinate_frame(std::string_view plain);

// A corner of a box, and the one across.
enum class Corner { top_left, bottom_right, top_right, bottom_left };
Corner opposite(Corner corner);
// The corner that a text calls the point between `before`, which goes back to the last place, and `after`: "the
// top-left corner is", "starts at", " in the bottom right", "左上角为".
std::optional<Corner> corner_of_point(std::string_view before, std::string_view after);

}  // namespace agon::env
