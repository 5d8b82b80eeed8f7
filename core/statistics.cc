#include "core/statistics.h"
