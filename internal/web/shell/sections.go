package shell

// section is one entry of the bar. A new section needs a line in sections and an icon in
// templates/icons.html.
type section struct {
	Path, Label, Icon string
	Place             placing
}

// placing is where a section appears: the bar of a phone holds only a few.
type placing int

const (
	inBar         placing = iota // always in the bar
	inBarWhenWide                // in the menu on a phone
	inMenu                       // always in the menu
)

func (s *Shell) sections() []section {
	all := []section{
		{"/hub", "Hub", "hub", inMenu},
		{"/log", "Log", "log", inBar},
		{"/changes", "Changes", "changes", inMenu},
		{"/topics", "Topics", "topics", inMenu},
		{"/status", "Status", "status", inBarWhenWide},
		{"/docs", "Docs", "docs", inBarWhenWide},
	}
	writes := s.Writes && s.Sessions != nil
	if !s.Reads && !writes {
		for i := range all {
			all[i].Place = inBar
		}
		return all
	}
	var first []section
	if s.Reads {
		first = append(first, section{"/river", "River", "river", inBar}, section{"/feeds", "Feeds", "feeds", inBar})
	}
	if writes {
		first = append(first, section{"/write", "Write", "write", inBar})
		all[1].Place = inBarWhenWide // the log
	}
	return append(first, all...)
}
