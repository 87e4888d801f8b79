package ops

import "strings"

// Memory that belongs to a stream and not to a program is named by its use: the word that holds the step at which the
// stream is, the word in which blocks of a kernel count themselves, and the workspace of products.
const (
	step      = "step["
	count     = "count["
	workspace = "workspace["
)

// StepWord names the step word of a stream.
func StepWord(stream string) string { return step + stream + "]" }

// CountWord names the count word of a stream.
func CountWord(stream string) string { return count + stream + "]" }

// Workspace names the workspace of a stream.
func Workspace(stream string) string { return workspace + stream + "]" }

// IsStep reports whether a place is a step word.
func IsStep(at Loc) bool { return strings.HasPrefix(at.Buffer, step) }

// IsCount reports whether a place is a count word.
func IsCount(at Loc) bool { return strings.HasPrefix(at.Buffer, count) }

// IsWorkspace reports whether a place is a workspace.
func IsWorkspace(at Loc) bool { return strings.HasPrefix(at.Buffer, workspace) }

// OfStream reports whether a place belongs to a stream and not to a program.
func OfStream(at Loc) bool { return IsStep(at) || IsCount(at) || IsWorkspace(at) }
