// All ops of the dialect, for the generator: one run over every family.
include "TenonDialect.td"
include "StructureOps.td"
include "ElementwiseOps.td"
include "ShapeOps.td"
include "LayerOps.td"
include "AttentionOps.td"
include "KernelOps.td"
include "ScheduleOps.td"
