"""What an editor asks about a spec while it is being written, without a word of the protocol it asks in."""
