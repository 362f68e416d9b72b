// SPDX-License-Identifier: Apache-2.0
#pragma once

// MPI's names of element types and of operations; after <mpi.h>.

#include <hvd/dist/communicator.hpp>

namespace hvd::dist {

inline MPI_Datatype mpi_type(DataType type) {
  switch (type) {
    case DataType::uint8: return MPI_UINT8_T;
    case DataType::int32: return MPI_INT32_T;
    case DataType::int64: return MPI_INT64_T;
    case DataType::uint64: return MPI_UINT64_T;
    case DataType::float32: return MPI_FLOAT;
    case DataType::float64: return MPI_DOUBLE;
    case DataType::bfloat16:
    case DataType::float16: return MPI_UINT16_T;  // which it carries; it cannot add them up
  }
  return MPI_DATATYPE_NULL;
}

inline MPI_Op mpi_op(ReduceOp op) { return op == ReduceOp::sum ? MPI_SUM : op == ReduceOp::min ? MPI_MIN : MPI_MAX; }

}  // namespace hvd::dist
