// Package weblogs is the ping interface of weblogs.com.
package weblogs
