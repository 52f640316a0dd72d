"""Where alarms go when nobody looks at a screen: a chat, a command, W&B, the desktop.

Nothing here is on unless it was asked for. An outlet may be slow, wrong or gone; the watch goes on, and
says so in one line. Addresses and headers are secrets: they are used, never printed.
"""
