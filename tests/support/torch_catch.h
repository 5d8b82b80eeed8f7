// tests/support/torch_catch.h - includes Catch2 together with LibTorch, which has its own CHECK.
#pragma once

#include <c10/util/Logging.h>
#undef CHECK
#include <catch2/catch.hpp>
