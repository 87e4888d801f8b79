package schedule

// GetColumns lets every rank copy its part from every other rank in one strided copy: a part of the columns of each
// row, or rows that become a part of the columns.
type GetColumns struct {
	By StridedCarrier `zero:"copy engine"`
}

func (GetColumns) way() {}
