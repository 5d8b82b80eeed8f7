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

}  // namespace agon::env
