#include "core/image.h"
