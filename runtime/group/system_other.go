//go:build !linux

package group

import (
	"os"

	"ovgen/runtime/launch"
)

func memfd(string) (*os.File, error) { return nil, launch.Supported() }
