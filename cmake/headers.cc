// Nothing of its own: CMake precompiles headers for a target that has a C++ file.
