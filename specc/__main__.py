"""`python -m specc`"""

import sys

from specc.faces.cli import main

sys.exit(main())
