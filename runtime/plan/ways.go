package plan

// Ways that errors name for schedules to use. Package schedule, which no program links, has the facts of ways: the
// tests of verify/harness hold these names against them.
const (
	plainWays        = "schedule.Pull or schedule.Slots" // usual ones, by which no kernel sends what lands elsewhere
	waysByLibrary    = "schedule.NCCL"
	waysOfNeighbours = "schedule.Ring or schedule.PushRing or schedule.RingSum or schedule.RingAccumulate"
)
