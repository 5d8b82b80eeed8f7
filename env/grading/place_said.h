// env/grading/place_said.h - what a text says about the places in it (env/grading/box_text.h): which are denied, and
// which belong to another object. Pure functions. Each reads only a few words around a place, so all
// places of a text take linear time.
#pragma once

#include <string>
#include <string_view>

namespace agon::env {

// Is the place between two texts denied: "The button isn't at ..", "Never tap ..", ".. is not the dog", "不要点击.."?
// What a sentence says of something else ("The cup that is not blue is at ..") denies nothing.
bool denies_place(std::string_view before, std::string_view after);

// Does a text end with what makes the two numbers behind it a picture's size: "the image size is", "resolution:"?
bool ends_with_size(std::string_view before);

// Does the text between an earlier place and a later one, or the text behind the later one, say that the later one
// belongs to another object: ", to the left of the cat at"? `listed`: the earlier one was such a place itself, so that
// "and the bird at" continues the list.
bool names_landmark(std::string_view between, std::string_view after, bool listed);

// "[100,200,300,400], where (0, 0) is the top-left corner of the image and (1000, 800) ..": without what says how
// coordinates are counted.
std::string without_coordinate_frame(std::string_view plain);

}  // namespace agon::env
