package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"ovgen/cmd/ovgen/internal/load"
)

// finding is one finding of vet -json. It has the fields that docs/first-schedule.md promises, and no field is ever
// left out.
type finding struct {
	File     string `json:"file"` // relative to the current folder, if it is below that folder
	Line     int    `json:"line"`
	Column   int    `json:"column"`
	Schedule string `json:"schedule"`
	Field    string `json:"field"`    // its path; empty for the schedule as a whole
	Computed bool   `json:"computed"` // the field is not written as a literal
	Message  string `json:"message"`
	Hint     string `json:"hint"`
	Severity string `json:"severity"`
}

// Severities of a finding.
const (
	severityError   = "error"
	severityWarning = "warning"
)

// findings are the mistakes by position; it returns any other error.
func findings(err error) ([]finding, error) {
	list := []finding{}
	var mistakes load.Mistakes
	if err == nil {
		return list, nil
	}
	if !errors.As(err, &mistakes) {
		return nil, err
	}
	for _, m := range mistakes.Sorted() {
		list = append(list, finding{File: m.Pos.Filename, Line: m.Pos.Line, Column: m.Pos.Column, Schedule: m.Schedule,
			Field: m.Field, Computed: m.Computed, Message: m.Msg, Hint: m.Hint, Severity: severityError})
	}
	return list, nil
}

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("print JSON: %w", err)
	}
	return nil
}
