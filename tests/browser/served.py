"""The built site, served as a web server would serve it."""

from __future__ import annotations

import gzip
from http.server import SimpleHTTPRequestHandler
from pathlib import Path

SITE = Path(__file__).resolve().parents[2] / "build" / "html"
COMPRESSIBLE = {".css", ".html", ".js", ".json", ".svg", ".xml"}


def site_pages() -> list[str]:
    """Each page of the site, by its path.

    Not the page for wrong addresses: it names its files from the root of the host that publishes
    the site, and here there is another root.
    """
    return sorted(
        path.relative_to(SITE).as_posix()
        for path in SITE.rglob("*.html")
        if "_static" not in path.parts and path.name != "404.html"
    )


class Compressing(SimpleHTTPRequestHandler):
    """Files of the site, compressed as hosts do it, without a line of log for each."""

    protocol_version = "HTTP/1.1"

    def __init__(self, *args: object) -> None:
        super().__init__(*args, directory=str(SITE))

    def do_GET(self) -> None:
        path = Path(self.translate_path(self.path))
        path = path / "index.html" if path.is_dir() else path
        if not path.is_file():
            self.send_error(404)
            return
        body = path.read_bytes()
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(str(path)))
        self.send_header("Cache-Control", "max-age=600")
        if path.suffix in COMPRESSIBLE:
            body = gzip.compress(body, mtime=0)
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass
