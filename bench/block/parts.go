package block

import s "ovgen/schedule"

// ChainInParts is the chain, with a rank's rows in two parts behind the first sum.
var ChainInParts = inParts(Chain)

func inParts(c s.Schedule) s.Schedule {
	c.Moves = []s.Move{{Of: "R", Way: s.Slots{Parts: 2}}}
	return c
}
