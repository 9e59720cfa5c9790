"""The page of a model from Python: as a file, served, and in a notebook."""

import html
import os
import urllib.request

import assay
import checks
from assay.exception import PolygraphyException


def test_a_page_is_written_and_shown_in_a_notebook():
    checks.save_identity()
    view = assay.view("identity.onnx")
    view.save("page.html")
    with open("page.html", encoding="utf-8") as file:
        page = file.read()
    assert page.startswith("<!DOCTYPE html>") and 'id="scene/0"' in page
    shown = view._repr_html_()
    assert shown.startswith('<iframe srcdoc="') and 'sandbox="allow-scripts' in shown
    assert 'id="scene/0"' in html.unescape(shown)
    view.save("picture.svg")
    assert os.path.getsize("picture.svg") > 100


def test_a_model_in_memory_beside_another_one():
    checks.save_identity()
    page = assay.view(assay.load("identity.onnx"), "identity.onnx").html()
    assert 'id="scene/1"' in page


def test_a_page_is_served_until_it_is_closed():
    checks.save_identity()
    with assay.view("identity.onnx") as view:
        address = view.open(browser=False)
        assert address == view.address and "#token=" in address
        with urllib.request.urlopen(address.split("#")[0]) as reply:
            assert b"<script>" in reply.read()
    assert view.address is None
    with checks.raises(OSError, ""):
        urllib.request.urlopen(address.split("#")[0])


def test_what_cannot_be_shown_is_an_error():
    with checks.raises(PolygraphyException, "nothere.onnx"):
        assay.view("nothere.onnx").html()
    with checks.raises(PolygraphyException, "nothere.onnx"):
        assay.view("nothere.onnx").open(browser=False)
    checks.save_identity()
    with checks.raises(PolygraphyException, "a page is written to .html"):
        assay.view("identity.onnx").save("page.txt")


if __name__ == "__main__":
    checks.run_all(globals())
