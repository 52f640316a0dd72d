"""The playbooks' rooms: how one is written, judged and walked.

`format` reads a file into frozen models, `language` parses and interprets its conditions, `scope` is what
they may look at. `alarms` turns rows into alarms, `walk` leads a person (or nobody) through the steps,
`evidence` puts into words what was compared, `verdict` ranks what it comes to. `authoring` holds the
tools for whoever writes a playbook. Nothing here knows a file format of a run, or a screen.
"""
