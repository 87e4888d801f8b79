// Package scheduletest makes schedules for tests: operations by the usual names of their
// tensors, changes of every field, and random schedules.
package scheduletest
