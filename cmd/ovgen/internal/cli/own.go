package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"ovgen/cmd/ovgen/internal/emit"
	"ovgen/schedule"
)

// own reads the files of the kernels that the calls of a schedule name, each once.
func (x *subject) own() (list []emit.Own, err error) {
	for i, o := range x.Schedule.Ops {
		name := o.Kernel.File
		if name == "" || slices.ContainsFunc(list, func(o emit.Own) bool { return o.Name == name }) {
			continue
		}
		text, path, err := x.File(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, &schedule.FieldError{Path: fmt.Sprintf("Ops[%d].Kernel.File", i),
				Msg:  fmt.Sprintf("there is no %s beside the schedules", name),
				Hint: "put it into the folder of their package"}
		case err != nil:
			return nil, err
		}
		list = append(list, emit.Own{Name: name, Path: path, Text: text})
	}
	return list, nil
}
