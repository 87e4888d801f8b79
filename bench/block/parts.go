package block

import s "ovgen/schedule"

// ChainInParts is the chain whose own rows go on from the first sum in two parts.
var ChainInParts = inParts(Chain)

func inParts(c s.Schedule) s.Schedule {
	c.Moves = []s.Move{{Of: "R", Way: s.LayerSlots{Parts: 2}}}
	return c
}
