package author

import "cloudburst/internal/author/markup"

// renderContent generates the HTML of a content and its nodes.
func renderContent(c *Content) error {
	rendered, err := markup.Render(c.Source, c.Format)
	if err != nil {
		return err
	}
	c.HTML = rendered
	return renderNodes(c.Outline)
}

func renderNodes(nodes []Node) error {
	for i := range nodes {
		rendered, err := markup.Render(nodes[i].Text, Markdown)
		if err != nil {
			return err
		}
		nodes[i].HTML = markup.Unwrap(rendered)
		if err := renderNodes(nodes[i].Nodes); err != nil {
			return err
		}
	}
	return nil
}
