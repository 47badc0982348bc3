"""Access: who asks, what each verb needs, and the one wrapper that checks every call from
outside.
"""
