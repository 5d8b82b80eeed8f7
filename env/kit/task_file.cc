#include "env/kit/task_file.h"

#include "core/error.h"
#include "core/text.h"

namespace agon::env {

std::string task_id_of(const SortedJson& id) {
  if (id.is_number_integer()) return id.dump();
  if (!id.is_string() || trim(id.get<std::string>()).empty())
    throw Error("\"id\" is {}. Give a text with something in it, or a whole number, every digit of it written out",
                shown(id));
  return id;
}

void check_picture_marks(std::string_view prompt, std::size_t pictures) {
  std::size_t marks = 0;
  for (std::size_t at = 0; (at = prompt.find(kPictureMark, at)) != prompt.npos; at += kPictureMark.size()) ++marks;
  if (marks != 0 && marks != pictures)
    throw Error("the text has the mark {} {} {}, and the task has {} {}. Write the mark once per picture, or nowhere",
                kPictureMark, marks, marks == 1 ? "time" : "times", pictures, pictures == 1 ? "picture" : "pictures");
}

}  // namespace agon::env
