"""tools/bundle_page.py joins modules, and refuses what it cannot join; the page's own modules keep its rules."""

import re
import unittest

from made_up_tree import ROOT, TreeTest

PAGE = ROOT / "src" / "report" / "view"
FORBIDDEN = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|setAttribute\(\"(style|on)|\.cssText|createContextualFragment|srcdoc|"
                       r"setTimeout\(\"|trustedTypes")
ADDRESS = re.compile(r"https?://[^\s\"'`]+")


class BundlePage(TreeTest):
    def bundle(self, *options, **modules):
        for name, text in modules.items():
            self.write(f"page/{name}.js", text)
        status, output = self.run_tool("bundle_page.py", self.root / "page", self.root / "out.js", *options)
        return output.strip() if status else (self.root / "out.js").read_text()

    def test_order_and_space(self):
        script = self.bundle(a='import { twice } from "./b.js";\n\n/** Says it. */\nconst said = twice("a  b");\nglobalThis.said = said;\n',
                             b="// Doubles.\n\nexport function twice(text) {\n  const one = text;\n  const two = one;\n  return one + two;\n}\n")
        self.assertEqual(script, '(()=>{"use strict";\nfunction d(c){const a=c,e=a;return a+e}const b=d("a  b");globalThis.said=b})();\n')

    def test_what_is_kept(self):
        script = self.bundle(a='const name = /[/"]\\/  x/g;\nconst other = { name, list: [1, - -2] };\nglobalThis.text = `a  ${other.name}  b`;\nif (1 / 2 / 3) globalThis.x = "//  no comment";  // one\nglobalThis.y = 1 /* two */ + 2;\n')
        for part in ('const a=/[/"]\\/  x/g', "{name:a,list:[1,- -2]}", "`a  ${b.name}  b`", '"//  no comment";globalThis.y=1+2}'):
            self.assertIn(part, script)

    def test_what_is_shortened(self):
        script = self.bundle(a='class Rows {\n  more(first, [second]) {\n    for (const each of first) if (each.first === true) return false;\n    while (second());\n  }\n}\nglobalThis.rows = (wide) => new Rows(wide).more({ wide });\n')
        for part in ("more(d,[e]){", ".first===!0)return!1;while(e());}", ".more({wide:"):
            self.assertIn(part, script)

    def test_variables_and_keys_of_the_same_name(self):
        script = self.bundle(a="""class Box {
  constructor({ width, height: tall = 2 }) {
    this.width = width ? width : tall;
  }

  width(height) {
    const rest = [...this.list, { width: height, height }];
    return `${rest.map(({ width }) => `${width}!`)} width`;
  }
}
globalThis.Box = Box;
""")
        for part in ("constructor({width:a,height:tall=2}){this.width=a?a:tall}", "width(b){const d=[...this.list,{width:b,height:b}];",
                     "return`${d.map(({width:a})=>`${a}!`)} width`", "globalThis.Box=c"):
            self.assertIn(part, script)

    def test_fields_are_refused(self):
        self.assertIn("fields of classes are set in constructors", self.bundle(a="class Box {\n  width = 1;\n}\n"))

    def test_refusals(self):
        for words, modules in (("in a circle: a.js, b.js", {"a": 'import { y } from "./b.js";\nexport const x = 1;\n', "b": 'import { x } from "./a.js";\nexport const y = 1;\n'}),
                               ("b.js and a.js both declare `x`", {"a": "const x = 1;\n", "b": "function x() {}\n"}),
                               ("imports c.js, which is not there", {"a": 'import { x } from "./c.js";\n'}),
                               ("b.js does not export `x`", {"a": 'import { x } from "./b.js";\n', "b": "const x = 1;\n"}),
                               ("an import must read", {"a": 'import x from "./b.js";\n'}),
                               ("an import must read", {"a": 'const x = () => import("./b.js");\n'}),
                               ("only functions, classes and constants", {"a": "export default 1;\n"}),
                               ("end a script element", {"a": 'const x = "</script>";\n'})):
            with self.subTest(words):
                for file in self.root.glob("page/*"):
                    file.unlink()
                self.assertIn(words, self.bundle(**modules))

    def test_size(self):
        self.assertIn("at most 10 are allowed", self.bundle("--most", "10", a="globalThis.x = 1;\n"))

    def test_the_page(self):
        status, output = self.run_tool("bundle_page.py", PAGE / "page", self.root / "out.js")
        self.assertEqual((status, output[:7]), (0, "sha256-"))

    def test_sources_make_text_only(self):
        for file in sorted(PAGE.rglob("*")):
            if file.suffix not in (".js", ".html", ".css"):
                continue
            text = file.read_text()
            self.assertIsNone(FORBIDDEN.search(text), file)
            self.assertLessEqual(set(ADDRESS.findall(text)), {"https://ui.perfetto.dev", "http://www.w3.org/2000/svg"}, file)
            if file.suffix == ".js":
                self.assertLess(text.count("\n"), 401, file)


if __name__ == "__main__":
    unittest.main()
