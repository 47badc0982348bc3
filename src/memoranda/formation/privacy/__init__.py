"""The privacy check: a line of experience that serves several users reveals nothing about any of them."""
