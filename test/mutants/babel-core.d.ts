/** The part of Babel that the mutants are made with; Stryker brings Babel, and no types for it. */
declare module '@babel/core' {
  export interface SyntaxNode {
    readonly type: string
  }
  export interface TaggedTemplate extends SyntaxNode {
    readonly tag: SyntaxNode
    readonly quasi: { readonly quasis: { value: { raw: string; cooked: string } }[] }
  }
  export interface NodePath {
    readonly node: SyntaxNode
    isTaggedTemplateExpression(): this is { readonly node: TaggedTemplate }
  }
  const babel: {
    readonly types: {
      cloneNode<T extends SyntaxNode>(node: T, deep: boolean): T
      isIdentifier(node: SyntaxNode, options: { readonly name: string }): boolean
    }
  }
  export default babel
}
