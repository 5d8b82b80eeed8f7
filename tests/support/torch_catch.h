// tests/support/torch_catch.h - Catch2 together with LibTorch, which has a CHECK of its own.
#pragma once

#include <c10/util/Logging.h>
#undef CHECK
#include <catch2/catch.hpp>
