// Package analysis finds mistakes in schedules that are visible in the source, without running it: a go/analysis
// analyzer, for go vet -vettool and for editors. It reports the errors of schedule.Validate and package lower for the
// parts that are constant.
package analysis
