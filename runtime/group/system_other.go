//go:build !linux

package group

import (
	"os"

	"ovgen/runtime/launcher"
)

func memfd(string) (*os.File, error) { return nil, launcher.Supported() }
