package storetest

import "syscall"

// dieWithUs makes a server end when this process ends for any reason: a test that panics does not
// stop the server itself.
func dieWithUs(attr *syscall.SysProcAttr) *syscall.SysProcAttr {
	with := syscall.SysProcAttr{}
	if attr != nil {
		with = *attr
	}
	with.Pdeathsig = syscall.SIGQUIT
	return &with
}
