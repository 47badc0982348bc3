"""The form of a model's answer, brought into that of the prompt before it is read."""
