/* Names that are in the way of Rust or of what the generator makes. */
provider odd {
    probe names__self(char *self, char *self_buffer, char *into, char *fn_once, int arguments, int fire);
    probe names__type(char *s1, char *s_1, char *__s1, int return, int _, int);
    probe Upper__Case(const char *Name, unsigned char Octet);
    probe names__names(int names);
    probe fire(char *fire_buffer, char *fire);
    probe trace(int trace);
    probe most(char *, char *, char *, char *, char *, char *,
               long, unsigned long, short, unsigned short, char, unsigned char);

    /**
     * ``` [x](y) <z> | `a | b` http://example.org/a_b. *c* &amp; \
     * ===
     *     let x: Code = none;
     * # Heading
     * ~~~
     */
    probe markdown(int x);
};
