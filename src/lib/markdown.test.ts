import { expect, test } from 'vitest'
import { readMarkdown, renderMarkdown } from './markdown.ts'

test('Markdown becomes HTML as GitHub makes it', async () => {
  const text = [
    '# demo_thing (Resource)',
    '',
    'A **thing** with `code`, ~~not~~ https://example.com/x and [mail](mailto:a@example.com).',
    '',
    '| a | b |',
    '|---|--:|',
    '| 1 | 2 |',
    '',
    '```terraform',
    'resource "demo_thing" "a" {}',
    '```',
    '',
    '3. three',
  ].join('\n')
  expect(await renderMarkdown(text)).toBe(`<h1 id="doc-demo_thing-resource">demo_thing (Resource)</h1>
<p>A <strong>thing</strong> with <code>code</code>, <s>not</s> <a href="https://example.com/x" rel="nofollow noopener noreferrer">https://example.com/x</a> and <a href="mailto:a@example.com" rel="nofollow noopener noreferrer">mail</a>.</p>
<table>
<thead>
<tr>
<th>a</th>
<th>b</th>
</tr>
</thead>
<tbody>
<tr>
<td>1</td>
<td>2</td>
</tr>
</tbody>
</table>
<pre><code class="language-terraform">resource "demo_thing" "a" {}
</code></pre>
<ol start="3">
<li>three</li>
</ol>
`)
})

test('callouts, anchors and links within a page are those of the documentation of providers', async () => {
  const text = [
    '-> **Note:** one',
    '',
    '~> two',
    '',
    '!> three',
    '',
    '- (see [below](#nestedblock--a))',
    '',
    '<a id="nestedblock--a"></a>',
    '### Nested Schema for `a`',
    '',
    '### Nested Schema for `a`',
  ].join('\n')
  const html = await renderMarkdown(text, { headingsBelow: 1 })
  expect(html).toContain('<p class="note"><strong>Note:</strong> one</p>')
  expect(html).toContain('<p class="warning">two</p>')
  expect(html).toContain('<p class="danger">three</p>')
  expect(html).toContain('<a href="#doc-nestedblock--a">below</a>')
  expect(html).toContain('<a id="doc-nestedblock--a"></a>')
  expect(html).toContain('<h4 id="doc-nested-schema-for-a">')
  expect(html).toContain('<h4 id="doc-nested-schema-for-a-1">')
})

test('addresses without a host lead where the caller says, or nowhere', async () => {
  const text =
    '[a](../resources/x.md#top) [b](/admin) [c](//evil.example) [d](x?y) [e](#) [f](\\\\evil.example)'
  const asked: string[] = []
  const html = await renderMarkdown(text, {
    link: (path) => {
      asked.push(path)
      return path.startsWith('..') ? '/docs/x' : undefined
    },
  })
  expect(html).toBe('<p><a href="/docs/x#doc-top">a</a> <a>b</a> <a>c</a> <a>d</a> <a>e</a> <a>f</a></p>\n')
  expect(asked).toEqual(['../resources/x.md', '/admin', '//evil.example', 'x?y', '%5Cevil.example'])
  expect(await renderMarkdown(text)).not.toContain('href')
})

const HOSTILE = [
  '<script>alert(1)</script>',
  '<SCRIPT SRC=//evil.example/x.js></SCRIPT>',
  '<scr<script>ipt>alert(1)</scr</script>ipt>',
  '<img src=x onerror=alert(1)>',
  '<img src="https://evil.example/pixel.png">',
  '![pixel](https://evil.example/pixel.png "t")',
  '[![badge](https://evil.example/b.svg)](https://evil.example)',
  '<a href="javascript:alert(1)">x</a>',
  '<a href=" &#106;avascript:alert(1)">x</a>',
  '<a href="java\tscript:alert(1)">x</a>',
  '<a href="java&#10;script:alert(1)">x</a>',
  '<a href="data:text/html,<script>alert(1)</script>">x</a>',
  '<a href="vbscript:x">x</a>',
  '<a href="https://example.com" onclick="alert(1)" target="_blank" style="position:fixed">x</a>',
  '[x](javascript:alert(1))',
  '[x](data:text/html;base64,PHNjcmlwdD4=)',
  '<javascript:alert(1)>',
  '<svg onload=alert(1)><script>alert(1)</script><style>*{}</style></svg>',
  '<math><mtext><table><mglyph><style><img src=x onerror=alert(1)></style></mglyph></table></mtext></math>',
  '<iframe src="https://evil.example"></iframe><iframe srcdoc="<script>alert(1)</script>"></iframe>',
  '<object data="x"></object><embed src="x">',
  '<style>body { background: url(https://evil.example) }</style>',
  '<p style="background:url(https://evil.example)">x</p>',
  '<link rel="stylesheet" href="https://evil.example"><base href="https://evil.example">',
  '<meta http-equiv="refresh" content="0;url=https://evil.example">',
  '<form action="https://evil.example"><input name="password"><button formaction="x">go</button></form>',
  '<video src="https://evil.example" autoplay></video><audio src="x"></audio>',
  '<details ontoggle=alert(1) open><summary>x</summary></details>',
  '<noscript><p title="</noscript><img src=x onerror=alert(1)>">',
  '<textarea></textarea><img src=x onerror=alert(1)></textarea>',
  '<title><img src=x onerror=alert(1)></title>',
  '<![CDATA[<img src=x onerror=alert(1)>]]>',
  '<!--><img src=x onerror=alert(1)>-->',
  '<?xml-stylesheet href="javascript:alert(1)"?>',
  '```x" onmouseover="alert(1)\ny\n```',
  '# <b onclick=x>y</b> " onmouseover="alert(1)',
  '</main></body><h1 id="x">not ours</h1>',
]

test.each(HOSTILE)('nothing of %j runs, loads or poses as something else', async (text) => {
  for (const html of [await renderMarkdown(text), await renderMarkdown(`para ${text}\n\n- ${text}`)]) {
    const tags = [...html.matchAll(/<\/?([a-zA-Z][^\s/>]*)([^>]*)>/g)]
    for (const [, tag, attributes = ''] of tags) {
      expect(tag).toMatch(/^(h[1-6]|p|a|ul|li|pre|code|strong|em|b|details|summary|table)$/)
      for (const [, name = '', value = ''] of attributes.matchAll(/([^\s=]+)="([^"]*)"/g)) {
        expect(['href', 'id', 'class', 'rel']).toContain(name)
        if (name === 'href') expect(value).toMatch(/^(https:\/\/e|#doc-)/)
        if (name === 'id') expect(value).toMatch(/^doc-/)
      }
      expect(attributes.replaceAll(/[^\s=]+="[^"]*"/g, '').trim()).toBe('')
    }
  }
})

test('ids are never those of the page', async () => {
  const html = await renderMarkdown(
    '<h2 id="q">x</h2><a name="main">y</a><form id="f"><input name="getElementById"></form><p id="a b">z</p>\n\n# constructor',
  )
  expect([...html.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id)).toEqual([
    'doc-q',
    'doc-main',
    'doc-constructor',
  ])
  expect(html).not.toContain('name=')
})

test('a text that is made to take long does not', async () => {
  const marks = [
    '[',
    '![',
    '*',
    '**a',
    '_a ',
    '`',
    '<',
    '<a ',
    '>',
    '- ',
    '|a',
    '(',
    '&',
    '](',
    '<!--',
    '~',
    ':',
  ]
  const started = performance.now()
  for (const mark of marks) {
    const text = mark.repeat(Math.floor(20_000 / mark.length))
    await renderMarkdown(text)
    await readMarkdown(text)
  }
  expect(performance.now() - started).toBeLessThan(5_000)
})

test('what a text says is found without its marks', async () => {
  const text = [
    '# A `demo` *thing*',
    '',
    'Some **bold**',
    'text [here](https://example.com/hidden) ![alt](x.png).',
    '<b>raw</b>',
    '',
    '<details><summary>More</summary>inside</details>',
    '',
    '```hcl',
    'resource "a" "b" {}',
    '```',
    '',
    '| cell |',
    '|---|',
    '| value |',
    '',
    '## Second',
  ].join('\n')
  expect(await readMarkdown(text)).toEqual({
    headings: ['A demo thing', 'Second'],
    text: [
      'A demo thing',
      'Some bold text here alt. raw',
      'More inside',
      'resource "a" "b" {}',
      'cell',
      'value',
      'Second',
    ].join('\n'),
  })
})
