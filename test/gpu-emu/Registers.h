// Registers of the threads of a block.
#pragma once
#include "Launch.h"

namespace tenon::emu {
/// Whether a block can have those that the kernel asks for; else it is reported.
bool startRegisters(const Kernel &kernel);
void resetRegisters(const Kernel &kernel); // when a block starts
void checkRegisters(const Kernel &kernel); // when all threads have returned
} // namespace tenon::emu
