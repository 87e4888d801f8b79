package schedule

// GetColumns lets every rank copy from every other what it needs, a part of the columns of each row or into a part of
// them, each in one strided copy.
type GetColumns struct {
	By StridedCarrier `zero:"copy engine"`
}

func (GetColumns) way() {}
