// Package analysis finds mistakes in schedules that are plain in the source, without
// running it: a go/analysis analyzer, for go vet -vettool and for editors. It says what
// schedule.Validate and package lower would say, of the parts that are constant.
package analysis
