package lower

import (
	"slices"

	"ovgen/schedule"
)

// overRanks says that an axis is spread over the ranks and not cut otherwise.
func overRanks(t schedule.Tensor, axis int) bool {
	return axis >= 0 && axis < len(t.Axes) &&
		slices.Equal(t.Axes[axis].Outer, []schedule.Split{schedule.DIDx(schedule.D)})
}
