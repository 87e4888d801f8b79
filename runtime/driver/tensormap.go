package driver

// TensorMap is a CUtensorMap, which a kernel takes within its parameters at a multiple of 64 bytes. It is opaque,
// except in drivers without a GPU, where it begins with the tensor's address.
type TensorMap [16]uint64

// TensorMapDesc describes a tensor [Shards, Rows, Columns] of elements of 16 bits, row-major, and the box of it that
// one copy moves: BoxRows rows of one shard and 64 columns, swizzled by 128 bytes in shared memory. Outside of the
// tensor a copy reads zeros and writes nothing. The tensor and each of its rows start at a multiple of 16 bytes.
type TensorMapDesc struct {
	At                    Ptr
	Type                  Type
	Shards, Rows, Columns int
	BoxRows               int
}

// Valid reports whether CUDA takes the description.
func (d TensorMapDesc) Valid() bool {
	return d.Type.Valid() && d.Type.Size() == 2 && d.At != 0 && d.At%16 == 0 && d.Shards > 0 && d.Rows > 0 &&
		d.Columns > 0 && d.Columns%8 == 0 && 0 < d.BoxRows && d.BoxRows <= 256
}
