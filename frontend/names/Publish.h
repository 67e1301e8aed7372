// The parameters of a program: those that its entries reach, the elements of stacks that exist, their public names.
#pragma once
#include "frontend/names/Names.h"
#include "frontend/sema/session/Session.h"

namespace tenon::sema {

/// Op::Param of a new entry: from the list of all parameters met to the program's, in the order in which entries reach them.
void adoptParameters(Session &session, Program &program, Entry &entry);
/// After the last entry. Reports names that two parameters would have, and, in a program of the whole model, those that none has.
void publish(Session &session, Program &program, const NameTables &tables, bool isWhole);

} // namespace tenon::sema
