package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// readJSON reads an object into x. It refuses each field of only that has another value than the one there or null;
// other fields that x lacks are ignored.
func readJSON(text []byte, x any, only map[string]any) error {
	var fields map[string]any
	if err := json.Unmarshal(text, &fields); err != nil {
		return err
	}
	errs := []error{json.Unmarshal(text, x)}
	for _, name := range slices.Sorted(maps.Keys(only)) {
		if has := fields[name]; has != nil && has != only[name] {
			given, _ := json.Marshal(has) // both are as JSON can have them
			served, _ := json.Marshal(only[name])
			errs = append(errs, fmt.Errorf("%s is %s (only %s is served)", name, given, served))
		}
	}
	return errors.Join(errs...)
}
