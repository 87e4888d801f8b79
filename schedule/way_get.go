package schedule

// Get lets each rank copy the parts that it needs straight from their owners, in the order r+1,
// r+2, .... It is Pull for communications whose parts and streams leave no choice.
type Get struct {
	By Carrier `zero:"copy engine"`
}

func (Get) way() {}
