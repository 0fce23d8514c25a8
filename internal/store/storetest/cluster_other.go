//go:build !linux

package storetest

import "syscall"

func dieWithUs(attr *syscall.SysProcAttr) *syscall.SysProcAttr { return attr }
